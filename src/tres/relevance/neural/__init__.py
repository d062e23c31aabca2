"""The paper's recurrent models: BiLSTM and KwBiLSTM."""
