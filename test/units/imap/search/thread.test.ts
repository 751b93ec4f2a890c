// THREAD of RFC 5256: its examples, the algorithm beside a literal one, and crafted References.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as threading from '../../../../src/imap/search/thread.ts'
import { baseSubject } from '../../../../src/mime/base-subject.ts'
import { subjectKey, type ThreadFields, threadIds } from '../../../../src/mime/header-keys.ts'
import { Random } from '../../../support/random.ts'

const { LOOP_STEPS_MAX } = threading

interface Fields extends ThreadFields {
  number: number
  date: number
  subject: string | undefined
}

/** The messages with the keys that are kept of their fields. */
function keyed(messages: readonly Fields[]): threading.ThreadMessage[] {
  return messages.map(({ number, date, subject, ...ids }) => {
    const { key, isReply } = subjectKey(subject)
    return { number, date, subject: key, isReply, threadIds: threadIds(ids) }
  })
}

const threadByReferences = (messages: readonly Fields[]) => threading.threadByReferences(keyed(messages))
const threadByOrderedSubject = (messages: readonly Fields[]) => threading.threadByOrderedSubject(keyed(messages))

/** A message by its parts: `id` and `references` are short names of ids. */
function message(
  number: number,
  given: Partial<{ id: string; references: string[]; reply: string; subject: string; date: number }>,
): Fields {
  return {
    number,
    date: given.date ?? number,
    subject: given.subject,
    messageId: given.id === undefined ? undefined : `<${given.id}@x>`,
    inReplyTo: given.reply === undefined ? undefined : `<${given.reply}@x>`,
    references: given.references?.map((id) => `<${id}@x>`).join(' '),
  }
}

test('ORDEREDSUBJECT: subjects together, the first sent one with the others below', () => {
  const messages = [
    message(1, { subject: 'a', date: 5 }),
    message(2, { subject: 'b', date: 3 }),
    message(3, { subject: 'Re: a', date: 4 }),
    message(4, { subject: 'A', date: 6 }),
    message(5, { subject: 'Re: b', date: 3 }),
    message(6, {}),
  ]
  assert.equal(threadByOrderedSubject(messages), '(2 5)(3 (1)(4))(6)')
})

test('REFERENCES: chains, missing messages, branches', () => {
  const chain = [
    message(1, { id: 'a' }),
    message(2, { id: 'b', references: ['a'] }),
    message(3, { id: 'c', reply: 'b' }),
  ]
  assert.equal(threadByReferences(chain), '(1 2 3)')
  assert.equal(threadByReferences(chain.toReversed()), '(1 2 3)')
  const branches = [...chain, message(4, { references: ['a', 'b'] }), message(5, { references: ['a'] })]
  assert.equal(threadByReferences(branches), '(1 (2 (3)(4))(5))')
  const orphans = [message(1, { references: ['gone'] }), message(2, { references: ['gone'] })]
  assert.equal(threadByReferences(orphans), '((1)(2))')
  assert.equal(threadByReferences([message(1, { references: ['g', 'h', 'i'] })]), '(1)')
  assert.equal(threadByReferences([]), '')
})

test('REFERENCES: the last reference is the parent, links of others give way; loops are not made', () => {
  const truncated = [
    message(1, { id: 'a' }),
    message(2, { id: 'c', references: ['a', 'b'] }),
    message(3, { id: 'b' }),
    message(4, { references: ['b', 'c'] }),
  ]
  // The first message said that b is below a, but b itself refers to nothing.
  assert.equal(threadByReferences(truncated), '(1)(3 2 4)')
  const loop = [message(1, { id: 'a', references: ['b'] }), message(2, { id: 'b', references: ['a'] })]
  assert.equal(threadByReferences(loop), '(2 1)')
  assert.equal(threadByReferences([message(1, { id: 'a', references: ['a'] })]), '(1)')
})

test('REFERENCES: repeated and quoted ids', () => {
  const twice = [message(1, { id: 'a' }), message(2, { id: 'a' }), message(3, { references: ['a'] })]
  assert.equal(threadByReferences(twice), '(1 3)(2)')
  const quoted = [
    { ...message(1, {}), messageId: '<"01K"@x>' },
    { ...message(2, {}), references: '<01K@x>' },
  ]
  assert.equal(threadByReferences(quoted), '(1 2)')
})

test('REFERENCES: threads of one subject become one', () => {
  const reply = [message(1, { subject: 'Re: a' }), message(2, { subject: 'a' })]
  assert.equal(threadByReferences(reply), '(2 1)')
  const equals = [message(1, { subject: 'a' }), message(2, { subject: 'a' }), message(3, { subject: 'a' })]
  assert.equal(threadByReferences(equals), '((1)(2)(3))')
  assert.equal(threadByReferences([message(1, { subject: 'Re:' }), message(2, { subject: '' })]), '(1)(2)')
})

/** A node of the literal algorithm. */
interface Node {
  number: number
  date: number
  subject: string
  isReply: boolean
  parent: Node | null
  children: Node[]
}

/** RFC 5256 §3, step by step, without any care for time. */
class LiteralThreads {
  readonly ids = new Map<string, Node>()
  readonly nodes: Node[] = []
  readonly root: Node = this.node()

  node(): Node {
    return { number: 0, date: 0, subject: '', isReply: false, parent: null, children: [] }
  }

  idNode(id: string): Node {
    if (!this.ids.has(id)) {
      this.ids.set(id, this.node())
      this.nodes.push(this.ids.get(id)!)
    }
    return this.ids.get(id)!
  }

  isAbove(node: Node, below: Node | null): boolean {
    return below !== null && (below === node || this.isAbove(node, below.parent))
  }

  move(node: Node, parent: Node | null): void {
    if (node.parent) node.parent.children = node.parent.children.filter((child) => child !== node)
    node.parent = parent
    parent?.children.push(node)
  }

  first(node: Node): Node {
    return node.number === 0 && node.children.length > 0 ? node.children[0]! : node
  }

  sort(nodes: Node[]): void {
    const key = (node: Node) => this.first(node)
    nodes.sort((a, b) => key(a).date - key(b).date || key(a).number - key(b).number)
  }

  run(messages: readonly Fields[]): string {
    for (const each of messages) this.add(each)
    for (const node of this.nodes) if (node.parent === null) this.move(node, this.root)
    this.prune(this.root)
    for (const child of this.root.children) if (child.number === 0) this.sort(child.children)
    this.sort(this.root.children)
    this.merge()
    this.sortAll(this.root)
    return this.root.children.map((child) => `(${this.write(child)})`).join('')
  }

  add(each: Fields): void {
    const idsOf = (text: string | undefined) => [...(text ?? '').matchAll(/<([^>]*)>/g)].map((match) => match[1]!)
    const id = idsOf(each.messageId)[0]
    let node = id === undefined ? null : this.idNode(id)
    if (node === null || node.number !== 0) {
      node = this.node()
      this.nodes.push(node)
    }
    const { text, isReply } = baseSubject(each.subject ?? '')
    Object.assign(node, { number: each.number, date: each.date, subject: text.toUpperCase(), isReply })
    const listed = idsOf(each.references)
    const references = listed.length > 0 ? listed : idsOf(each.inReplyTo).slice(0, 1)
    for (const [at, reference] of references.entries()) {
      const child = this.idNode(reference)
      if (at === 0) continue
      const parent = this.idNode(references[at - 1]!)
      if (child.parent === null && !this.isAbove(child, parent)) this.move(child, parent)
    }
    this.move(node, null)
    const last = references.length === 0 ? null : this.idNode(references.at(-1)!)
    if (last !== null && !this.isAbove(node, last)) this.move(node, last)
  }

  prune(node: Node): void {
    for (const child of [...node.children]) {
      this.prune(child)
      if (child.number !== 0) continue
      if (child.children.length === 0) this.move(child, null)
      else if (node !== this.root || child.children.length === 1) {
        for (const grandchild of [...child.children]) this.move(grandchild, node)
        this.move(child, null)
      }
    }
  }

  merge(): void {
    const table = new Map<string, Node>()
    for (const child of this.root.children) {
      const { subject, isReply } = this.first(child)
      const known = table.get(subject)
      if (subject === '') continue
      if (!known) table.set(subject, child)
      else if (known.number !== 0 && (child.number === 0 || (this.first(known).isReply && !isReply)))
        table.set(subject, child)
    }
    for (const child of [...this.root.children]) {
      if (child.parent !== this.root) continue
      const { subject, isReply } = this.first(child)
      const known = table.get(subject)
      if (subject === '' || !known || known === child) continue
      if (known.number === 0 && child.number === 0) {
        for (const grandchild of [...child.children]) this.move(grandchild, known)
        this.move(child, null)
      } else if (known.number === 0) this.move(child, known)
      else if (isReply && !this.first(known).isReply) this.move(child, known)
      else {
        const dummy = this.node()
        this.move(dummy, this.root)
        this.move(known, dummy)
        this.move(child, dummy)
        table.set(subject, dummy)
      }
    }
  }

  sortAll(node: Node): void {
    for (const child of node.children) this.sortAll(child)
    this.sort(node.children)
  }

  write(node: Node): string {
    const below =
      node.children.length === 1
        ? this.write(node.children[0]!)
        : node.children.map((child) => `(${this.write(child)})`).join('')
    return node.number === 0 ? below : below === '' ? `${node.number}` : `${node.number} ${below}`
  }
}

test('REFERENCES agrees with the literal algorithm on random messages', () => {
  const random = new Random(9)
  const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const subjects = ['x', 'Re: x', 'y', 'Re: y', '[l] z', undefined, undefined]
  for (let round = 0; round < 3000; round++) {
    const messages = Array.from({ length: 1 + random.below(9) }, (_, at) => {
      const references = random.chance(0.6) ? random.some(ids, 0.3).toSorted(() => random.next() - 0.5) : []
      const given = { id: random.pick([...ids, undefined]), references, reply: random.pick([...ids, undefined]) }
      return message(at + 1, { ...given, subject: random.pick(subjects), date: random.below(6) })
    })
    const expected = new LiteralThreads().run(messages)
    assert.equal(threadByReferences(messages), expected, JSON.stringify(messages))
  }
})

test('crafted References take bounded time and no stack', () => {
  const count = 20_000
  const numbered = (make: (at: number) => Parameters<typeof message>[1], from = 0, to = count) =>
    Array.from({ length: to - from }, (_, at) => message(from + at + 1, make(from + at)))
  const chain = (at: number) => ({ id: `${at}`, references: at === 0 ? [] : [`${at - 1}`] })
  const linear = [
    numbered(chain),
    numbered(chain).toReversed(),
    numbered(() => ({ subject: 'a' })),
    numbered((at) => ({ references: [`${at >> 1}`], subject: 'a' })),
    numbered(() => ({ id: 'a', references: ['b'] })),
    numbered((at) => ({ references: Array.from({ length: 20 }, (_, step) => `${(at * 7 + step) % 1000}`) })),
  ].map(keyed)
  const start = process.cpuUsage()
  for (const messages of linear) threading.threadByReferences(messages)
  assert.ok(process.cpuUsage(start).user < 10_000_000)
  assert.match(threading.threadByReferences(linear[0]!), /^\(1 2 3 .* 19999 20000\)$/)
})

test('messages far below others that are missing are moved up once', () => {
  // A chain of missing messages, 1000 in each field, with a root above and many replies below it.
  const [fields, step, replies] = [100, 1000, 3000]
  const ids = (field: number) => Array.from({ length: step }, (_, at) => `d${field * (step - 1) + at}`)
  const chain = Array.from({ length: fields }, (_, at) => message(at + 2, { references: ids(at) }))
  const first = message(1, { id: 'd0' })
  const last = `d${fields * (step - 1)}`
  const below = Array.from({ length: replies }, (_, at) => message(fields + at + 2, { references: [last] }))
  const start = process.cpuUsage()
  const threads = threadByReferences([first, ...chain, ...below])
  assert.ok(process.cpuUsage(start).user < 5_000_000)
  assert.ok(threads.startsWith('(1 ('))
  assert.equal(threads.match(/\(\d+\)/g)!.length, fields + replies)
})

test('links whose checks for loops would take too many steps are omitted', () => {
  const depth = 10_000
  const chain = Array.from({ length: depth }, (_, at) =>
    message(at + 1, { id: `${at}`, references: at ? [`${at - 1}`] : [] }),
  )
  const parents = Math.ceil((LOOP_STEPS_MAX / depth) * 1.5)
  // Each parent has a child before it asks for the end of the chain: the check walks all of the chain.
  const children = Array.from({ length: parents }, (_, at) => message(depth + at + 1, { references: [`p${at}`] }))
  const asking = Array.from({ length: parents }, (_, at) =>
    message(depth + parents + at + 1, { id: `p${at}`, references: [`${depth - 1}`] }),
  )
  const threads = threadByReferences([...chain, ...children, ...asking])
  // The first two thirds are linked.
  const roots = threads.split(/\)\((?=\d+ \d+(?:\)|$))/).length
  assert.ok(threads.startsWith('(1 2 3 '))
  const alone = asking.filter(({ number }) => threads.includes(`)(${number} ${number - parents})`)).length
  assert.ok(roots > parents / 2 && alone > parents / 4, `${roots} ${alone}`)
})
