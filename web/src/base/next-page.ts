// Where a person goes after signing in.

const USUAL = '/console'

/**
 * The page that `?next=` names, when it is one of this server; else the console. Read as browsers read it: `/\host` and `/<tab>/host` are
 * other servers.
 * @param search the query of the address @param origin of this server
 */
export function nextPage(search: string, origin: string): string {
  const wanted = new URLSearchParams(search).get('next') ?? USUAL
  if (!wanted.startsWith('/') || !URL.canParse(wanted, origin)) return USUAL
  const url = new URL(wanted, origin)
  if (url.origin !== origin) return USUAL
  return url.pathname + url.search + url.hash
}
