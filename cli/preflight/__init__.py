"""What Google says about a stack before it is deployed."""
