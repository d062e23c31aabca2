"""What learns the value of a link."""
