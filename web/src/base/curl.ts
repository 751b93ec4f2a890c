// The same request as a command: what a page does, a program can do.

import { resourceIdOf } from './resource-id.ts'

/** One request of the API, as a page makes it. The path is seen from the base of the API; its parts are encoded in the command. */
export interface ApiRequest {
  method: string
  path: string
  query?: Record<string, string | number | boolean | undefined>
  body?: unknown
  /** `operator` for what is reached with an operator key. */
  base?: '/api/v1' | '/operator/v1' | '/me/v1'
}

/** The requests of a list, and of the row that is open in it. @param open id of the row; another text opens no row */
export function requestsOf(path: string, query: ApiRequest['query'], open: string | null): ApiRequest[] {
  const id = resourceIdOf(open ?? undefined)
  const row = id === null ? [] : [{ method: 'GET', path: `${path}/${id}` }]
  return [{ method: 'GET', path, query }, ...row]
}

/** What concerns the person takes their session, and a header that other sites cannot send. */
const AS_PERSON = ['-b "__Host-mailstead=$SESSION"', "-H 'X-Mailstead: 1' -H 'Sec-Fetch-Site: same-origin'"]

/** One word for a POSIX shell, whatever characters it has (POSIX.1-2024, Shell Command Language §2.2.2). */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** A command for a shell; the key is left to the reader, as `$KEY`. */
export function curlOf({ method, path, query = {}, body, base = '/api/v1' }: ApiRequest, origin: string): string {
  const members = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  )
  const search = new URLSearchParams(members).toString()
  const parts = path.split('/').map(encodeURIComponent).join('/')
  const address = `${origin}${base}${parts}${search === '' ? '' : `?${search}`}`
  return [
    `curl ${method === 'GET' ? '' : `-X ${quoted(method)} `}${quoted(address)}`,
    ...(base === '/me/v1' ? AS_PERSON : ['-H "Authorization: Bearer $KEY"']),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`]),
  ].join(' \\\n  ')
}
