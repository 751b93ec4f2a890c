// Puts the texts of a language in the place of the English ones: pages keep the objects of texts, and read them when they draw.

import * as english from './en/all.ts'
import type { Words } from './language.ts'

function replaceTexts(source: object, texts: object): void {
  for (const [name, text] of Object.entries(texts)) {
    const there = Reflect.get(source, name) as unknown
    if (typeof there === 'object' && there !== null) replaceTexts(there, text as object)
    else Reflect.set(source, name, text)
  }
}

export function replaceWords(words: Words): void {
  replaceTexts({ ...english }, words)
}
