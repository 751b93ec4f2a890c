// The name of a request that creates something: the same while a person sends the same content again, so that it is created once.

import { useRef } from 'preact/hooks'

/** @returns a function from a body to the headers of its request */
export function useRequestKey(): (body: unknown) => { 'Idempotency-Key': string } {
  const last = useRef({ content: '', key: '' })
  return (body) => {
    const content = JSON.stringify(body)
    if (content !== last.current.content) last.current = { content, key: crypto.randomUUID() }
    return { 'Idempotency-Key': last.current.key }
  }
}
