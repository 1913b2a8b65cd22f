"""Question 1: is it as accurate as the data allows?"""
