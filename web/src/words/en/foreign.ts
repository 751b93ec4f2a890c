// Words of the marks in text of strangers.

const NAMES: Readonly<Record<string, string>> = {
  '00AD': 'Soft hyphen',
  '061C': 'Arabic letter mark',
  '200B': 'Zero-width space',
  '200C': 'Zero-width non-joiner',
  '200D': 'Zero-width joiner',
  '200E': 'Left-to-right mark',
  '200F': 'Right-to-left mark',
  '202A': 'Left-to-right embedding',
  '202B': 'Right-to-left embedding',
  '202C': 'End of a change of direction',
  '202D': 'Left-to-right override: what follows is shown in another order',
  '202E': 'Right-to-left override: what follows is shown in another order',
  '2060': 'Word joiner',
  '2066': 'Left-to-right isolate',
  '2067': 'Right-to-left isolate',
  '2068': 'First strong isolate',
  '2069': 'End of an isolate',
  FEFF: 'Byte order mark',
}

export const foreign = {
  names: NAMES,
  control: 'A character that cannot be seen',
  hidden: (count: number) => `${count} hidden characters`,
  hiddenNote: 'Characters that cannot be seen',
  mixed: 'mixed alphabets',
  mixedNote: 'Letters of another alphabet look like those of this word',
  domain: (original: string) => `Written as ${original}: it looks like another domain. This is its name in DNS.`,
}
