"""Question 4: does it hold where it will be used?"""
