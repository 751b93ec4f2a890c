// Detects display names that look like an address: many mail clients show the name alone, so it could impersonate a sender.

/** "@" between two parts, or "(at)" before a domain. */
const ADDRESS = /[^\s@]\s*@\s*[^\s@]|[([{]\s*at\s*[)\]}]\s*[\p{L}\p{N}-]+\s*[.。]\s*[\p{L}\p{N}]/iu

/** True when a name looks like an address, also in compatibility forms or with invisible characters. */
export function looksLikeAddress(name: string): boolean {
  return ADDRESS.test(name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, ''))
}

export const LIKE_ADDRESS = 'The name of an agent must not look like an address. Use a name without "@".'
