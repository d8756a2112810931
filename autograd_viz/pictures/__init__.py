"""What is drawn: the figure, the map, a run, memory, a difference, a job of ranks; and the files of pictures."""
