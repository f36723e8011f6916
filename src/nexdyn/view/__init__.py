"""What people look at: geometry, the viewer in the browser, recordings.

geometry.py    shapes and mesh files → surfaces (vertices, faces, colour) fixed to bodies
extras.py      packages that are in an extra, and the error that names it where one is missing
"""
