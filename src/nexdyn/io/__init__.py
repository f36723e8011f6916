"""Files: scenes, robots, and the door that tells them apart."""
