// A certificate authority that a test scripts: what Pebble lacks (renewal information, profiles, limits, CAA), and misbehaviour.

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { promisify } from 'node:util'
import { flattenedVerify, importJWK, type JWK } from 'jose'
import { issueCertificate } from './tls-authority.ts'

const run = promisify(execFile)

interface StoredOrder {
  names: string[]
  status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid'
  chain: string | null
}

/** A request as it was signed. */
export interface SignedRequest {
  path: string
  /** Null for POST-as-GET. */
  payload: Record<string, unknown> | null
  account: string | null
}

type Reply = (req: IncomingMessage, res: ServerResponse) => void

export class ScriptedAuthority implements AsyncDisposable {
  /** Members of `meta` in the directory. */
  meta: Record<string, unknown> = {}
  /** What renewal information says; null: there is none. */
  renewalInfo: { body: unknown; headers?: Record<string, string> } | null = null
  /** Days for which certificates are valid. */
  days = 90
  /** Whether proofs succeed: `problem` is that of the challenge. */
  proof: 'valid' | 'pending' | { problem: object } = 'valid'
  /** Changes an issued chain. */
  chain: (pem: string) => string | Promise<string> = (pem) => pem
  /** By the beginning of a path: answers in place of the authority, each once. */
  readonly instead: { path: string; reply: Reply }[] = []
  /** Beginnings of paths whose next answer is lost, after the request was served. */
  readonly lost: string[] = []
  readonly requests: SignedRequest[] = []
  readonly #orders: StoredOrder[] = []
  readonly #nonces = new Set<string>()
  readonly #accounts: JWK[] = []
  readonly #folder: string
  readonly #server: ReturnType<typeof createServer>
  #base = ''

  private constructor(folder: string, server: ReturnType<typeof createServer>) {
    this.#folder = folder
    this.#server = server
  }

  static async start(): Promise<ScriptedAuthority> {
    const folder = await mkdtemp(join(tmpdir(), 'mailstead-authority-'))
    const { authority, cert, key } = await issueCertificate(folder)
    // The process of the test trusts it from here on.
    setDefaultCACertificates([...getCACertificates('default'), await readFile(authority, 'utf8')])
    const server = createServer({ cert: await readFile(cert), key: await readFile(key) })
    const scripted = new ScriptedAuthority(folder, server)
    server.on('request', (req, res) => void scripted.#answer(req, res).catch(() => res.destroy()))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    scripted.#base = `https://127.0.0.1:${(server.address() as { port: number }).port}`
    return scripted
  }

  get directory(): string {
    return `${this.#base}/dir`
  }

  /** Requests whose path begins so. */
  count(path: string): number {
    return this.requests.filter((one) => one.path.startsWith(path)).length
  }

  /** Answers the next request of a path with a problem document. */
  refuse(path: string, type: string, { status = 400, detail = 'It does not work.', headers = {} } = {}): void {
    const reply: Reply = (_req, res) => this.#problem(res, { type, status, detail, headers })
    this.instead.push({ path, reply })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((done) => this.#server.close(done))
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = req.url ?? ''
    const body = await text(req)
    const at = this.instead.findIndex((one) => path.startsWith(one.path))
    if (at >= 0) return this.instead.splice(at, 1)[0]!.reply(req, res)
    if (path === '/dir') return this.#json(res, this.#directoryObject())
    if (path === '/nonce') return void this.#json(res, {})
    if (path.startsWith('/ari/')) {
      if (this.renewalInfo === null) return void res.writeHead(404).end()
      return this.#json(res, this.renewalInfo.body, this.renewalInfo.headers)
    }
    const signed = await this.#verified(path, body)
    if (signed === null) return this.#problem(res, { type: 'badNonce', status: 400, detail: 'The nonce is not known.' })
    this.requests.push(signed)
    return this.#serve(signed, res)
  }

  async #serve({ path, payload }: SignedRequest, res: ServerResponse): Promise<void> {
    const [, kind, n = '0'] = path.split('/')
    const order = this.#orders[Number(n)]
    if (kind === 'account') return this.#json(res, { status: 'valid' }, { location: this.#account() }, 201)
    if (kind === 'neworder') {
      const names = (payload!.identifiers as { value: string }[]).map(({ value }) => value)
      this.#orders.push({ names, status: 'pending', chain: null })
      const made = this.#orders.length - 1
      return this.#json(res, this.#order(made), { location: `${this.#base}/order/${made}` }, 201)
    }
    if (kind === 'order') return this.#json(res, this.#order(Number(n)))
    if (kind === 'authz') return this.#json(res, this.#authorization(path))
    if (kind === 'challenge') {
      if (this.proof === 'valid') order!.status = 'ready'
      else if (this.proof !== 'pending') order!.status = 'invalid'
      return this.#json(res, this.#challenge(path))
    }
    if (kind === 'finalize') {
      order!.chain = await this.#issue(Buffer.from(String(payload!.csr), 'base64url'))
      order!.status = 'valid'
      return this.#json(res, this.#order(Number(n)))
    }
    if (kind === 'certificate') {
      const chain = await this.chain(order!.chain!)
      return void this.#write(res, 200, chain, { 'content-type': 'application/pem-certificate-chain' })
    }
    return this.#json(res, {})
  }

  #directoryObject(): object {
    const at = (path: string) => `${this.#base}/${path}`
    const own = { newNonce: at('nonce'), newAccount: at('account'), newOrder: at('neworder'), revokeCert: at('revoke') }
    return { ...own, ...(this.renewalInfo === null ? {} : { renewalInfo: at('ari') }), meta: this.meta }
  }

  #order(n: number): object {
    const { names, status, chain } = this.#orders[n]!
    return {
      ...{ status, identifiers: names.map((value) => ({ type: 'dns', value })) },
      authorizations: names.map((_, index) => `${this.#base}/authz/${n}/${index}`),
      finalize: `${this.#base}/finalize/${n}`,
      ...(chain === null ? {} : { certificate: `${this.#base}/certificate/${n}` }),
    }
  }

  #authorization(path: string): object {
    const [, , n, index] = path.split('/')
    const { names, status } = this.#orders[Number(n)]!
    const shown = status === 'pending' ? 'pending' : status === 'invalid' ? 'invalid' : 'valid'
    const challenge = this.#challenge(`/challenge/${n}/${index}`)
    return { status: shown, identifier: { type: 'dns', value: names[Number(index)] }, challenges: [challenge] }
  }

  #challenge(path: string): object {
    const [, , n] = path.split('/')
    const { status } = this.#orders[Number(n)]!
    const isAnswered = this.requests.some((one) => one.path === path)
    const own = { type: 'http-01', url: this.#base + path, token: `token-of-order-${n}-and-some-more` }
    if (status === 'invalid' && typeof this.proof === 'object')
      return { ...own, status: 'invalid', error: this.proof.problem }
    return { ...own, status: status === 'pending' ? (isAnswered ? 'processing' : 'pending') : 'valid' }
  }

  async #issue(csr: Buffer): Promise<string> {
    const file = (name: string) => join(this.#folder, name)
    await writeFile(file('order.csr'), csr)
    await writeFile(file('issue.ext'), 'authorityKeyIdentifier=keyid:always\nextendedKeyUsage=serverAuth\n')
    const signer = ['-CA', file('authority.pem'), '-CAkey', file('authority.key'), '-CAcreateserial']
    const form = ['-inform', 'DER', '-in', file('order.csr'), '-copy_extensions', 'copy', '-extfile', file('issue.ext')]
    const { stdout } = await run('openssl', ['x509', '-req', ...form, ...signer, '-days', String(this.days)])
    return stdout + (await readFile(file('authority.pem'), 'utf8'))
  }

  /** Null for a nonce that is not open. @throws Error for a request that is not signed as RFC 8555 §6.2 says */
  async #verified(path: string, body: string): Promise<SignedRequest | null> {
    const jws = JSON.parse(body) as { payload: string; protected: string; signature: string }
    const header = JSON.parse(Buffer.from(jws.protected, 'base64url').toString()) as Record<string, string> & {
      jwk?: JWK
    }
    if (header.url !== this.#base + path) throw new Error('The URL of the header is another one.')
    const jwk = header.jwk ?? this.#accounts[Number(header.kid?.split('/').at(-1))]!
    await flattenedVerify(jws, await importJWK(jwk, 'ES256'))
    if (!this.#nonces.delete(header.nonce!)) return null
    if (header.jwk !== undefined) this.#accounts.push(header.jwk)
    const payload = jws.payload === '' ? null : JSON.parse(Buffer.from(jws.payload, 'base64url').toString())
    return { path, payload, account: header.kid ?? null }
  }

  #account(): string {
    return `${this.#base}/acct/${this.#accounts.length - 1}`
  }

  #json(res: ServerResponse, value: unknown, headers: Record<string, string> = {}, status = 200): void {
    this.#write(res, status, JSON.stringify(value), { 'content-type': 'application/json', ...headers })
  }

  #problem(
    res: ServerResponse,
    { type, status, detail, headers = {} }: { type: string; status: number; detail: string; headers?: object },
  ): void {
    const body = JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail, status })
    this.#write(res, status, body, { 'content-type': 'application/problem+json', ...headers })
  }

  #write(res: ServerResponse, status: number, body: string, headers: object): void {
    const at = this.lost.findIndex((path) => res.req.url!.startsWith(path))
    if (at >= 0) {
      this.lost.splice(at, 1)
      return void res.destroy()
    }
    const nonce = randomBytes(16).toString('base64url')
    this.#nonces.add(nonce)
    res.writeHead(status, { 'replay-nonce': nonce, ...headers }).end(body)
  }
}

async function text(req: IncomingMessage): Promise<string> {
  let all = ''
  req.setEncoding('utf8')
  for await (const part of req) all += part
  return all
}
