package scan

// Raw takes a value and returns its text.
func (s *Scanner) Raw() ([]byte, error) {
	s.Peek()
	start := s.At
	err := s.Skip()
	return s.Data[start:s.At], err
}

// Skip passes over a value.
func (s *Scanner) Skip() error {
	switch c := s.Peek(); c {
	case '{', '[':
		return s.skipNested()
	case '"':
		_, _, err := s.Text()
		return err
	case 't':
		return s.Word("true")
	case 'f':
		return s.Word("false")
	case 'n':
		return s.Word("null")
	default:
		_, _, _, err := s.Number()
		return err
	}
}

// skipNested passes over an object or a list.
func (s *Scanner) skipNested() error {
	var b Brackets
	for open := 0; ; {
		if s.At = b.Next(s.Data, s.At); s.At == len(s.Data) {
			return errCut
		}
		switch s.Data[s.At] {
		case '{', '[':
			open++
		default:
			open--
		}
		s.At++
		if open == 0 {
			return nil
		}
	}
}
