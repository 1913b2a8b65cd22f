"""Question 2: does it know what it does not know?"""
