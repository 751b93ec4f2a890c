// What a client of the appliance's API sees of the messages it received.

import type { Passed } from './target.ts'

/** The API of one mailbox. */
interface Access {
  port: number
  key: string
}

const PAGE = 100

async function ask<T>({ port, key }: Access, path: string, body?: object): Promise<T> {
  const reply = await fetch(`http://127.0.0.1:${port}/api/v1/mailbox/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  })
  if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`)
  return (await reply.json()) as T
}

export async function countInbox(access: Access): Promise<number> {
  const { data } = await ask<{ data: { role: string; total_messages: number }[] }>(access, 'folders')
  return data.find(({ role }) => role === 'inbox')!.total_messages
}

/** @returns the number of messages with this word in their subject */
export async function countFound(access: Access, word: string): Promise<number> {
  const { data } = await ask<{ data: { count: number } }>(access, `messages/count?q=subject:${word}`)
  return data.count
}

interface Page {
  data: { id: string }[]
  pagination: { next_cursor?: string }
}

type Results = Record<'spf' | 'dkim' | 'dmarc', string>

/** Reads the results of all messages of the mailbox. */
export async function appliancePassed(access: Access): Promise<Passed> {
  const counts: Passed = { messages: 0, spf: 0, dkim: 0, dmarc: 0 }
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page: Page = await ask(access, `messages?limit=${PAGE}${cursor === '' ? '' : `&cursor=${cursor}`}`)
    const query = { ids: page.data.map(({ id }) => id), include: ['authentication'] }
    const { data } = await ask<{ data: { list: { authentication: Results }[] } }>(access, 'messages/batch-get', query)
    counts.messages += data.list.length
    for (const method of ['spf', 'dkim', 'dmarc'] as const)
      counts[method] += data.list.filter(({ authentication }) => authentication[method] === 'pass').length
    cursor = page.pagination.next_cursor
  }
  return counts
}
