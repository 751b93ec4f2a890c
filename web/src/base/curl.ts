// The same request as a command: what a page does, a program can do.

/** One request of the API, as a page makes it. Paths are seen from the base of the API. */
export interface ApiRequest {
  method: string
  path: string
  query?: Record<string, string | number | boolean | undefined>
  body?: unknown
  /** `operator` for what is reached with an operator key. */
  base?: '/api/v1' | '/operator/v1' | '/me/v1'
}

/** The requests of a list, and of the row that is open in it. @param open id of the row */
export function requestsOf(path: string, query: ApiRequest['query'], open: string | null): ApiRequest[] {
  const row = open === null ? [] : [{ method: 'GET', path: `${path}/${open}` }]
  return [{ method: 'GET', path, query }, ...row]
}

/** What concerns the person takes their session, and a header that other sites cannot send. */
const AS_PERSON = ['-b "__Host-mailstead=$SESSION"', "-H 'X-Mailstead: 1' -H 'Sec-Fetch-Site: same-origin'"]

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** A command for a shell; the key is left to the reader, as `$KEY`. */
export function curlOf({ method, path, query = {}, body, base = '/api/v1' }: ApiRequest, origin: string): string {
  const members = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  )
  const search = new URLSearchParams(members).toString()
  const address = `${origin}${base}${path}${search === '' ? '' : `?${search}`}`
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${/[?&']/.test(address) ? quoted(address) : address}`,
    ...(base === '/me/v1' ? AS_PERSON : ['-H "Authorization: Bearer $KEY"']),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`]),
  ].join(' \\\n  ')
}
