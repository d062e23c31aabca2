"""Files: opened safely, written durably, checked for changed bits."""
