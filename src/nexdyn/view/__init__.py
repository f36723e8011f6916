"""What people look at: geometry, the viewer in the browser, recordings, plots, pictures.

geometry.py    shapes and mesh files → surfaces (vertices, faces, colour) fixed to bodies
motion.py      where every body is at any time
stills.py      PNG, GIF, MP4 without a display;  camera.py  from where;  raster.py  triangles → pixels, by kernels
charts.py      the numbers that a plot shows, with names and units;  plots.py  panels → figures, by matplotlib
notebook.py    tables and small figures that notebooks show
extras.py      packages that are in an extra, and the error that names it where one is missing
"""
