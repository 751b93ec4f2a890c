// Display names an agent may not have: many mail programs show the name alone, and a name that reads like an address is taken for the sender.

/** "@" between two parts, or "(at)" before a domain. */
const ADDRESS = /[^\s@]\s*@\s*[^\s@]|[([{]\s*at\s*[)\]}]\s*[\p{L}\p{N}-]+\s*[.。]\s*[\p{L}\p{N}]/iu

/** Whether a reader may take a name for an address; other forms of its letters and invisible characters make no difference. */
export function looksLikeAddress(name: string): boolean {
  return ADDRESS.test(name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, ''))
}

export const LIKE_ADDRESS = 'The name of an agent must not look like an address. Use a name without "@".'
