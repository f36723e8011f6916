"""Time integration that knows no mechanics."""
