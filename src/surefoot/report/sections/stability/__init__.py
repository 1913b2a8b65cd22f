"""Question 3: would the conclusion survive dropping a row?"""
