"""Learners that estimate the value of a link."""
