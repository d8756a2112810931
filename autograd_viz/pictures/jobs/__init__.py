"""All ranks of a job: what each of them told of its pass."""
