"""Fine-tuning on either side of a conversation. Imports eval only; meets data_gen in a JSONL of dialogues."""
