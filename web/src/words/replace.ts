// Puts the texts of a language in the place of the English ones: pages keep the objects of texts, and read them when they draw.

/** @param source texts that are replaced in place; other ones are left out */
export function replaceTexts(source: object, texts: object): void {
  for (const [name, text] of Object.entries(texts)) {
    const there = Reflect.get(source, name) as unknown
    if (there === undefined) continue
    // A list may have another length, as words to look for do.
    if (Array.isArray(there) && Array.isArray(text)) there.splice(0, there.length, ...(text as unknown[]))
    else if (typeof there === 'object' && there !== null) replaceTexts(there, text as object)
    else Reflect.set(source, name, text)
  }
}
