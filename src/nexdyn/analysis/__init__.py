"""What is asked of a mechanism: simulate it."""
