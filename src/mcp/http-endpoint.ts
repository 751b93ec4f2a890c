// Answers one message of the Model Context Protocol over HTTP: each request has a server of its own, so nothing is kept between two.

import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { ProductError } from '../base/errors.ts'
import type { RequestFacts } from '../http/route.ts'
import { callInProcess, ToolError } from './api-caller.ts'
import { CallMemory } from './call-memory.ts'
import { ALL_RIGHTS, mcpServer, rightsOf } from './server.ts'

/** Headers that the protocol reads. */
const HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']
/** Methods whose answer depends on what the credential may do; the API checks each call anyway. */
const LISTS = /^(?:initialize|server\/discover|(?:tools|resources|resources\/templates)\/list)$/
const NOT_FOUND = 404
const METHOD_NOT_FOUND = -32_601
/** Calls that are remembered of one credential, and credentials with such calls. */
const REMEMBERED_OF_ONE = 50
const CREDENTIALS_MAX = 1000

export interface McpMessage {
  id?: unknown
  method?: unknown
  params?: unknown
}

export interface McpReply {
  status: number
  type: string
  text: string
}

/** Calls by credential: a client repeats one after a broken connection. */
const memories = new Map<string, CallMemory>()

/**
 * @param url of the endpoint
 * @throws ProductError when the rights of the credential cannot be read
 */
export async function answerMcp(
  url: string,
  keyId: string,
  message: McpMessage,
  request: Pick<RequestFacts, 'callApi' | 'header' | 'signal'>,
): Promise<McpReply> {
  const method = String(message.method)
  // No list of tools or resources changes while a client listens.
  if (method === 'subscriptions/listen') return methodNotFound(message)
  const api = callInProcess(request)
  const rights = LISTS.test(method) ? await rightsOf(api).catch(refuse) : ALL_RIGHTS
  const tool = method === 'tools/call' ? (message.params as { name?: unknown } | undefined)?.name : undefined
  const open = () => mcpServer(api, { rights, memory: memoryOf(keyId), only: tool })
  const headers = HEADERS.flatMap((name): [string, string][] => {
    const value = request.header(name)
    return value === null ? [] : [[name, value]]
  })
  const asked = new Request(url, { method: 'POST', headers, signal: request.signal })
  const response = (await isLegacyRequest(asked, message))
    ? await answerLegacy(open(), asked, message)
    : await createMcpHandler(open, { legacy: 'reject' }).fetch(asked, { parsedBody: message })
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? 'application/json',
    text: await response.text(),
  }
}

/** Revisions before 2026-07-28, as one JSON answer. */
async function answerLegacy(server: McpServer, asked: Request, message: McpMessage): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  const leave = () => void server.close()
  asked.signal.addEventListener('abort', leave, { once: true })
  try {
    return await transport.handleRequest(asked, { parsedBody: message })
  } finally {
    asked.signal.removeEventListener('abort', leave)
    await server.close()
  }
}

function methodNotFound({ id }: McpMessage): McpReply {
  const error = { code: METHOD_NOT_FOUND, message: 'Method not found' }
  const text = JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error })
  return { status: NOT_FOUND, type: 'application/json', text }
}

function refuse(error: unknown): never {
  if (!(error instanceof ToolError)) throw error
  const { code, message, retryAfter } = error
  throw new ProductError(code, message, retryAfter === null ? {} : { retryAfter })
}

function memoryOf(keyId: string): CallMemory {
  const memory = memories.get(keyId) ?? new CallMemory(REMEMBERED_OF_ONE)
  memories.delete(keyId)
  memories.set(keyId, memory)
  if (memories.size > CREDENTIALS_MAX) memories.delete(memories.keys().next().value!)
  return memory
}
