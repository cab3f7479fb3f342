"""What the tool writes into programs and reads from them: attributes and number formats."""
