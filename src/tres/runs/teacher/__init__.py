"""A language model as a teacher: it judges pages, so that the model of a topic learns."""
