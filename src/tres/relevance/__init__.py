"""Relevance models: how probable is it that a text is about the topic?"""
