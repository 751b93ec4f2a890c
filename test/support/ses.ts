// A fake Amazon SES v2: verifies signatures (SigV4) and requests, and records messages.

import { createHash, createHmac } from 'node:crypto'
import { type Answer, type ApiRequest, type ApiServer, startApi } from './api-server.ts'

const KEY_ID = 'AKIAIOSFODNN7EXAMPLE'
const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'
const RECIPIENTS_MAX = 50

export interface SesMessage {
  messageId: string
  from: string
  to: string[]
  raw: Buffer
  tags: Record<string, string>
}

export interface Ses extends ApiServer {
  taken: SesMessage[]
  /** Domains SES knows, and their status there. */
  identities: Map<string, { status: string; tokens: string[] }>
  quota: { max: number; sent: number; enabled: boolean }
  env: Record<string, string>
}

export async function startSes(region = 'eu-west-1'): Promise<Ses> {
  const server = await startApi((asked) => answer(ses, asked, region))
  const ses: Ses = Object.assign(server, {
    taken: [],
    identities: new Map(),
    quota: { max: 50_000, sent: 12, enabled: true },
    env: {
      SES_ACCESS_KEY_ID: KEY_ID,
      SES_SECRET_ACCESS_KEY: SECRET,
      SES_REGION: region,
      SES_ENDPOINT: server.origin,
    },
  })
  return ses
}

/** An error in the format of SES. */
export function sesError(status: number, type: string, message: string): Answer {
  return { status, headers: { 'x-amzn-errortype': type }, body: { message } }
}

function answer(ses: Ses, asked: ApiRequest, region: string): Answer {
  if (!isSigned(asked, region)) {
    return sesError(403, 'InvalidSignatureException', 'The request signature we calculated does not match.')
  }
  const { method, path, body } = asked
  const json = body.length > 0 ? (JSON.parse(body.toString()) as Record<string, unknown>) : {}
  if (method === 'POST' && path === '/v2/email/outbound-emails') return send(ses, json)
  if (method === 'GET' && path === '/v2/email/account') return account(ses)
  if (method === 'POST' && path === '/v2/email/identities') return create(ses, json.EmailIdentity as string)
  const name = /^\/v2\/email\/identities\/([^/]+)$/.exec(path)?.[1]
  const known = name === undefined ? undefined : ses.identities.get(decodeURIComponent(name))
  if (method === 'GET' && known !== undefined) return { status: 200, body: identity(known) }
  return sesError(404, 'NotFoundException', `Email identity ${name} does not exist.`)
}

interface SendInput {
  FromEmailAddress?: string
  Destination?: { ToAddresses?: string[] }
  Content?: { Raw?: { Data?: string }; Simple?: unknown }
  EmailTags?: { Name: string; Value: string }[]
}

function send(ses: Ses, input: SendInput): Answer {
  const { FromEmailAddress: from = '', Destination, Content, EmailTags = [] } = input
  const to = Destination?.ToAddresses ?? []
  if (to.length === 0 || to.length > RECIPIENTS_MAX)
    return sesError(400, 'BadRequestException', 'Recipient count is not 1 to 50.')
  if (to.some((address) => !/^[^@\s]+@[^@\s]+$/.test(address))) {
    return sesError(400, 'BadRequestException', 'Illegal address')
  }
  const raw = Buffer.from(Content?.Raw?.Data ?? '', 'base64')
  if (raw.length === 0 && Content?.Simple === undefined) return sesError(400, 'BadRequestException', 'No content.')
  const domain = from.slice(from.lastIndexOf('@') + 1)
  if (ses.identities.get(domain)?.status !== 'SUCCESS') {
    const text = `Email address is not verified. The following identities failed the check in region EU-WEST-1: ${from}`
    return sesError(400, 'MessageRejected', text)
  }
  if (EmailTags.some(({ Name, Value }) => !/^[\w-]{1,256}$/.test(Name) || !/^[\w.@-]{1,256}$/.test(Value))) {
    return sesError(400, 'BadRequestException', 'Invalid tag.')
  }
  const messageId = `0102018c${String(ses.taken.length).padStart(8, '0')}-7c191be4-000000`
  const tags = Object.fromEntries(EmailTags.map(({ Name, Value }) => [Name, Value]))
  ses.taken.push({ messageId, from, to, raw, tags })
  return { status: 200, body: { MessageId: messageId } }
}

function account({ quota }: Ses): Answer {
  const SendQuota = { Max24HourSend: quota.max, MaxSendRate: 14, SentLast24Hours: quota.sent }
  return {
    status: 200,
    body: { SendQuota, SendingEnabled: quota.enabled, ProductionAccessEnabled: true, EnforcementStatus: 'HEALTHY' },
  }
}

function create(ses: Ses, name: string): Answer {
  if (ses.identities.has(name)) return sesError(400, 'AlreadyExistsException', `Email identity ${name} already exist.`)
  const made = { status: 'PENDING', tokens: ['aaa', 'bbb', 'ccc'].map((token) => token.repeat(8)) }
  ses.identities.set(name, made)
  return { status: 200, body: { ...identity(made), IdentityType: 'DOMAIN' } }
}

function identity({ status, tokens }: { status: string; tokens: string[] }) {
  return {
    VerifiedForSendingStatus: status === 'SUCCESS',
    DkimAttributes: { SigningEnabled: true, Status: status, Tokens: tokens, SigningAttributesOrigin: 'AWS_SES' },
  }
}

/** Signature Version 4, recomputed from the request. */
function isSigned({ method, path, query, headers, body }: ApiRequest, region: string): boolean {
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/ses\/aws4_request, SignedHeaders=([^,]+), Signature=(\w{64})$/
  const [, keyId, day, place, names, signature] = form.exec(headers.authorization ?? '') ?? []
  if (keyId !== KEY_ID || place !== region) return false
  const fields = names!.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`)
  const search = [...query].map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).sort()
  // Each segment of the path is escaped twice.
  const target = path.split('/').map(encodeURIComponent).join('/')
  const canonical = [method, target, search.join('&'), fields.join(''), names, digest(body)].join('\n')
  const scope = `${day}/${region}/ses/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, digest(canonical)].join('\n')
  const key = [day!, region, 'ses', 'aws4_request'].reduce<Buffer>(
    (from, word) => mac(from, word),
    Buffer.from(`AWS4${SECRET}`),
  )
  return mac(key, toSign).toString('hex') === signature
}

function mac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function digest(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
