"""What the tests share: webs made of percepts, plain models of the clever structures."""
