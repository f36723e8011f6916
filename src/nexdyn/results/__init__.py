"""What a run leaves behind: labelled arrays, files, tables."""
