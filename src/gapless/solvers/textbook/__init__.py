"""The algorithms of the textbooks, each readable line by line beside a lecture."""
