// Autodiscover as Outlook asks for it: the XML form (MS-OXDSCLI) and the JSON that leads to it.

import { Type } from 'typebox'
import { notFound, ProductError } from '../base/errors.ts'
import { type ClientEndpoint, clientSettings } from '../config/client-protocols.ts'
import type { Config } from '../config/config.ts'
import type { Context } from '../context.ts'
import type { ErrorAnswer, RouteError } from '../http/error-answer.ts'
import { type Route, route } from '../http/route.ts'
import { parseMailbox } from '../mime/address.ts'
import { html, type Markup } from './markup.ts'
import { SETUP_ADDRESS_MAX, SETUP_THROTTLE, setupDomain, textDocument } from './setup-domain.ts'
import { PAGE_ROUTE } from './site.ts'

const PATH = '/autodiscover/autodiscover.xml'
const BODY_MAX = 16_384
const RESPONSE = 'http://schemas.microsoft.com/exchange/autodiscover/responseschema/2006'
const OUTLOOK = 'http://schemas.microsoft.com/exchange/autodiscover/outlook/responseschema/2006a'
/** MS-OXDSCLI §2.2.4.1.1.3: the address is not known, and no answer in the form that was asked for. */
const UNKNOWN = 500
const NO_PROVIDER = 601
/** Entities that XML knows without a declaration; no other one is replaced. */
const ENTITIES = new Map([
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&apos;', "'"],
  ['&amp;', '&'],
])

/** What Outlook asks for. */
export interface AutodiscoverRequest {
  email: string
  /** The form of the answer; empty when it names none. */
  schema: string
}

const discover = route({
  ...PAGE_ROUTE,
  method: 'POST',
  path: PATH,
  anyCase: true,
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'autodiscover',
    summary: 'The settings of mail programs of a domain, for Outlook.',
  },
  reply: { ...PAGE_ROUTE.reply, types: ['*/*'], renderError: showXmlError },
  limits: { throttle: SETUP_THROTTLE },
  body: {
    raw: {
      limit: BODY_MAX,
      async take({ bytes }) {
        const content = Buffer.concat(await Array.fromAsync(bytes))
        return { value: readAutodiscover(content.toString()), digest: content }
      },
    },
  },
  handle({ body, app, request }) {
    // A JSON body has neither.
    const { email = '', schema = '' } = body as Partial<AutodiscoverRequest>
    if (schema !== '' && schema !== OUTLOOK) {
      throw new ProductError('not_found', 'This form of Autodiscover is not available.', { param: 'schema' })
    }
    const address = parseMailbox(email)
    if (address === null) throw notFound('address')
    setupDomain(app, email, request.host)
    return textDocument('text/xml', outlookSettings(app.config, email))
  },
})

const Address = Type.Optional(Type.String({ maxLength: SETUP_ADDRESS_MAX }))
const Protocol = Type.Optional(Type.String({ maxLength: 100 }))
const VERSION_2 = {
  ...PAGE_ROUTE,
  method: 'GET',
  reply: { ...PAGE_ROUTE.reply, types: ['application/json'], renderError: showJsonError, bare: true },
  limits: { throttle: SETUP_THROTTLE },
} as const

const discoverUrl = route({
  ...VERSION_2,
  path: '/autodiscover/autodiscover.json',
  anyCase: true,
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'autodiscoverUrl',
    summary: 'Where Outlook finds the settings of a domain (Autodiscover version 2).',
  },
  query: Type.Object({ Email: Address, email: Address, Protocol, protocol: Protocol }),
  handle({ query, app, request }) {
    return urlOf(app, query.Email ?? query.email ?? '', query.Protocol ?? query.protocol, request.host)
  },
})

const discoverUrlOf = route({
  ...VERSION_2,
  path: '/autodiscover/autodiscover.json/v1.0/{email}',
  anyCase: true,
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'autodiscoverUrlOfAddress',
    summary: 'The same with the address in the path, as Outlook asks today.',
  },
  params: Type.Object({ email: Type.String({ maxLength: SETUP_ADDRESS_MAX }) }),
  query: Type.Object({ Protocol, protocol: Protocol }),
  handle({ params: { email }, query, app, request }) {
    return urlOf(app, email, query.Protocol ?? query.protocol, request.host)
  },
})

/** @throws ProductError invalid_parameter for a protocol other than that of the XML form, not_found */
function urlOf(app: Context, email: string, protocol = 'AutodiscoverV1', host: string) {
  if (protocol.toLowerCase() !== 'autodiscoverv1') {
    throw new ProductError('invalid_parameter', 'This protocol is not available. Ask for AutodiscoverV1.', {
      param: 'Protocol',
    })
  }
  setupDomain(app, email, host)
  return { Protocol: 'AutodiscoverV1', Url: `${app.config.APP_ORIGIN}${PATH}` }
}

/** Reads two elements of a request. It is not parsed as XML: no entity, reference or nesting is followed. */
export function readAutodiscover(text: string): AutodiscoverRequest {
  return { email: elementOf(text, 'EMailAddress'), schema: elementOf(text, 'AcceptableResponseSchema') }
}

function elementOf(text: string, name: string): string {
  const pattern = new RegExp(`<(?:[\\w.-]{1,40}:)?${name}\\s{0,8}>([^<>]{0,${SETUP_ADDRESS_MAX}})<`)
  const content = pattern.exec(text)?.[1] ?? ''
  return content.replace(/&(?:lt|gt|quot|apos|amp);/g, (entity) => ENTITIES.get(entity)!).trim()
}

/** @throws ProductError not_found when IMAP is not served */
export function outlookSettings(config: Config, email: string): string {
  const { imap, submission } = clientSettings(config, email)
  if (imap === null) throw notFound('configuration')
  const account = html`  <Response xmlns="${OUTLOOK}">
    <Account>
      <AccountType>email</AccountType>
      <Action>settings</Action>
${protocolOf('IMAP', imap, email)}${submission === null ? null : protocolOf('SMTP', submission, email)}    </Account>
  </Response>`
  return envelope(account)
}

function protocolOf(type: string, { host, port, security }: ClientEndpoint, email: string): Markup {
  return html`      <Protocol>
        <Type>${type}</Type>
        <Server>${host}</Server>
        <Port>${port}</Port>
        <LoginName>${email}</LoginName>
        <DomainRequired>off</DomainRequired>
        <SPA>off</SPA>
        <SSL>on</SSL>
        <Encryption>${security === 'tls' ? 'SSL' : 'TLS'}</Encryption>
        <AuthRequired>on</AuthRequired>
      </Protocol>
`
}

function envelope(content: Markup): string {
  return html`<?xml version="1.0" encoding="utf-8"?>
<Autodiscover xmlns="${RESPONSE}">
${content}
</Autodiscover>
`.text
}

function showXmlError({ error, status, requestId }: RouteError): ErrorAnswer {
  const code = error.param === 'schema' ? NO_PROVIDER : UNKNOWN
  const text = envelope(html`  <Response>
    <Error Id="${requestId}">
      <ErrorCode>${code}</ErrorCode>
      <Message>${error.message}</Message>
      <DebugData />
    </Error>
  </Response>`)
  return { status, type: 'text/xml; charset=utf-8', text }
}

function showJsonError({ error, status }: RouteError): ErrorAnswer {
  const code = error.param === 'Protocol' ? 'ProtocolNotSupported' : 'UserNotFound'
  const text = JSON.stringify({ ErrorCode: code, ErrorMessage: error.message })
  return { status, type: 'application/json; charset=utf-8', text }
}

export const autodiscoverRoutes: readonly Route[] = [discover, discoverUrl, discoverUrlOf]
