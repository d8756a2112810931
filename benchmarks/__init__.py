"""What the project says about speed, measured again."""
