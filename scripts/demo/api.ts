// The API as the demo calls it: with a key, and the data of the answer as the result.

export type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>

/** The API as a client with this key sees it. @throws Error with the sentence of the API */
export function client(origin: string, key: string): Call {
  return async <T>(method: string, path: string, body?: unknown) => {
    const reply = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const answer = (await reply.json()) as { ok: boolean; data: T; error?: { message: string } }
    if (!answer.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${answer.error?.message}`)
    return answer.data
  }
}

export interface DemoMailbox {
  id: string
  email: string
  key: string
}

export async function makeMailbox(call: Call, email: string, name: string): Promise<DemoMailbox> {
  const wanted = { email, display_name: name, create_api_key: true }
  const { id, api_key } = await call<{ id: string; api_key: { key: string } }>('POST', '/mailboxes', wanted)
  return { id, email, key: api_key.key }
}
