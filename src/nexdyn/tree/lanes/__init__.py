"""Several systems of one tree at once, one in each lane."""
