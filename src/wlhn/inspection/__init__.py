"""What can be asked of a trained model: explanations, neighbours, the page to explore."""
