// German words of the marks in text of strangers.

import type { foreign as english } from '../en/foreign.ts'
import type { Translated } from '../language.ts'

export const foreign: Translated<typeof english> = {
  names: {
    '00AD': 'Weiches Trennzeichen',
    '061C': 'Arabisches Richtungszeichen',
    '200B': 'Leerzeichen ohne Breite',
    '200C': 'Trenner ohne Breite',
    '200D': 'Verbinder ohne Breite',
    '200E': 'Zeichen für links nach rechts',
    '200F': 'Zeichen für rechts nach links',
    '202A': 'Einbettung von links nach rechts',
    '202B': 'Einbettung von rechts nach links',
    '202C': 'Ende einer Änderung der Richtung',
    '202D': 'Erzwungene Richtung von links nach rechts: Das Folgende steht in anderer Reihenfolge',
    '202E': 'Erzwungene Richtung von rechts nach links: Das Folgende steht in anderer Reihenfolge',
    '2060': 'Wortverbinder',
    '2066': 'Isolierung von links nach rechts',
    '2067': 'Isolierung von rechts nach links',
    '2068': 'Isolierung nach dem ersten starken Zeichen',
    '2069': 'Ende einer Isolierung',
    FEFF: 'Byte-Reihenfolge-Zeichen',
  },
  control: 'Ein unsichtbares Zeichen',
  hidden: (count) => `${count} unsichtbare Zeichen`,
  hiddenNote: 'Zeichen, die man nicht sieht',
  mixed: 'gemischte Alphabete',
  mixedNote: 'Buchstaben eines anderen Alphabets sehen aus wie die dieses Wortes',
  domain: (original) => `Geschrieben als ${original}: Es sieht aus wie eine andere Domain. Dies ist ihr Name im DNS.`,
}
