// Addresses as people type and paste them: "Ana <ana@a.example>, bo@b.example".

export interface TypedAddress {
  email: string
  name: string
}

/** What the server takes as an address, as far as the form tells: it says the rest. */
const ADDRESS = /^[^\s@<>(),;:"[\]\\]+@[^\s@<>(),;:"[\]\\]+\.[^\s@<>(),;:"[\]\\]+$/
const NAMED = /^(.*?)\s*<([^<>]*)>$/

export const isAddress = (text: string) => ADDRESS.test(text)

/** Parts of a text that are separated by commas, semicolons or lines, outside of quotes. */
function partsOf(text: string): string[] {
  const parts: string[] = []
  let part = ''
  let isQuoted = false
  for (const letter of text) {
    if (letter === '"') isQuoted = !isQuoted
    if (!isQuoted && /[,;\n\r\t]/.test(letter)) {
      parts.push(part)
      part = ''
    } else part += letter
  }
  return [...parts, part].map((one) => one.trim()).filter((one) => one !== '')
}

/** The addresses in a text; what is none is returned with its text as `email`. */
export function readAddresses(text: string): TypedAddress[] {
  return partsOf(text).flatMap((part) => {
    const named = NAMED.exec(part)
    if (named !== null) return [{ name: named[1]!.replace(/^"|"$/g, '').trim(), email: named[2]!.trim() }]
    const words = part.split(/\s+/)
    return words.every(isAddress) ? words.map((email) => ({ email, name: '' })) : [{ email: part, name: '' }]
  })
}
