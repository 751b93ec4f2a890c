// Threads messages as RFC 5256 §4 says: ORDEREDSUBJECT and REFERENCES, in bounded time for any References.

import { baseSubject, casemapKey } from '../../mime/base-subject.ts'
import { messageIds } from '../../mime/references.ts'
import { formatThreads, newDummy, sortForest, sortSiblings, type ThreadNode, threadSubject } from './thread-tree.ts'

/** Ids used of one References field: the first (the root of the thread) and the last ones. */
export const THREAD_REFERENCES_MAX = 1000
/** Ids of References of all messages together; messages behind use the last id of their fields only. */
export const THREAD_IDS_MAX = 1_000_000
/** Steps towards the roots, over all messages, that look for loops. A link whose check would exceed them is omitted. */
export const LOOP_STEPS_MAX = 20_000_000

/** What THREAD needs to know of a message. */
export interface ThreadMessage {
  /** Sequence number or UID. */
  number: number
  /** Sent date (see sort.ts), ms. */
  date: number
  /** Unfolded texts of the fields; undefined where the message has none. */
  subject: string | undefined
  messageId: string | undefined
  inReplyTo: string | undefined
  references: string | undefined
}

/** THREAD=ORDEREDSUBJECT: messages of one base subject, the first sent one with all others below it. */
export function threadByOrderedSubject(messages: Iterable<ThreadMessage>): string {
  const groups = new Map<string, ThreadNode[]>()
  for (const node of nodesOf(messages)) {
    const group = groups.get(node.subject)
    if (group) group.push(node)
    else groups.set(node.subject, [node])
  }
  const roots = [...groups.values()].map((group) => {
    const [first, ...others] = sortSiblings(group)
    first!.children = others
    return first!
  })
  return formatThreads(sortSiblings(roots))
}

/** THREAD=REFERENCES. */
export function threadByReferences(messages: Iterable<ThreadMessage>): string {
  const linker = new ReferenceLinker()
  for (const message of messages) linker.add(message)
  const roots = sortSiblings(withoutDummies(linker.roots()))
  return formatThreads(sortForest(mergedBySubject(roots)))
}

function* nodesOf(messages: Iterable<ThreadMessage>): Generator<ThreadNode> {
  let order = 0
  for (const message of messages) yield nodeOf(message, order++)
}

function nodeOf({ number, date, subject }: ThreadMessage, order: number): ThreadNode {
  return { ...newDummy(), number, order, date, ...subjectOf(subject) }
}

function subjectOf(subject: string | undefined): { subject: string; isReply: boolean } {
  const { text, isReply } = baseSubject(subject ?? '')
  return { subject: casemapKey(text), isReply }
}

/** Step 1: links messages by their ids. */
class ReferenceLinker {
  readonly #byId = new Map<string, ThreadNode>()
  readonly #all: ThreadNode[] = []
  #order = 0
  #idsLeft = THREAD_IDS_MAX
  #stepsLeft = LOOP_STEPS_MAX

  add(message: ThreadMessage): void {
    const node = this.#nodeFor(message)
    let last: ThreadNode | null = null
    for (const id of this.#referencesOf(message)) {
      const next = this.#byId.get(id) ?? this.#newNode(id)
      // Step 1 (A): an existing link is not changed, and no link makes a loop.
      if (last !== null && next.parent === null && !this.#makesLoop(last, next)) link(last, next)
      last = next
    }
    // Step 1 (B): the message belongs below its last reference, whatever others said of it.
    if (node.parent !== null) node.parent = null
    if (last !== null && !this.#makesLoop(last, node)) link(last, node)
  }

  /** Step 2: the nodes without a parent, with their children. */
  roots(): ThreadNode[] {
    // Children are collected at the end: taking one out of a list at each new link would be quadratic.
    for (const node of this.#all) node.children = []
    for (const node of this.#all) node.parent?.children.push(node)
    return this.#all.filter(({ parent }) => parent === null)
  }

  /** The node of the message's own id; of several messages with one id the first has it. */
  #nodeFor(message: ThreadMessage): ThreadNode {
    const id = message.messageId === undefined ? undefined : idsOf(message.messageId, 1)[0]
    const known = id === undefined ? undefined : this.#byId.get(id)
    const own = nodeOf(message, this.#order++)
    if (known && known.number === 0) {
      const { number, order, date, subject, isReply } = own
      return Object.assign(known, { number, order, date, subject, isReply })
    }
    return this.#newNode(known ? undefined : id, own)
  }

  #newNode(id: string | undefined, node: ThreadNode = newDummy()): ThreadNode {
    if (id !== undefined) this.#byId.set(id, node)
    this.#all.push(node)
    return node
  }

  /** The ids of References, or the first one of In-Reply-To where it has none. */
  #referencesOf({ references, inReplyTo }: ThreadMessage): string[] {
    const ids = references === undefined ? [] : idsOf(references, THREAD_REFERENCES_MAX)
    if (ids.length === 0) return inReplyTo === undefined ? [] : idsOf(inReplyTo, THREAD_REFERENCES_MAX).slice(0, 1)
    // A repeated id counts once in the chain, but the last one of the field is the parent.
    const last = idsOf(references!.slice(references!.lastIndexOf('<')), 1)[0]
    if (last !== undefined && last !== ids.at(-1)) ids.push(last)
    this.#idsLeft -= ids.length
    return this.#idsLeft < 0 ? ids.slice(-1) : ids
  }

  /** True when the child is the parent or above it. */
  #makesLoop(parent: ThreadNode, child: ThreadNode): boolean {
    if (parent === child) return true
    // What has no children is above nothing.
    if (child.children.length === 0) return false
    for (let node = parent.parent; node !== null; node = node.parent) {
      if (node === child || --this.#stepsLeft < 0) return true
    }
    return false
  }
}

/** Links the nodes; while they are linked, `children` only says that there have been some. */
function link(parent: ThreadNode, child: ThreadNode): void {
  child.parent = parent
  if (parent.children.length === 0) parent.children.push(child)
}

/** Ids without angle brackets; a quoted local part counts as the same without quotes (RFC 5256 §3, step 1). */
function idsOf(text: string, max: number): string[] {
  return messageIds(text, Math.max(2, max))
    .slice(0, max)
    .map((id) => (id.includes('"') ? id.replace(/^"([^"\\\s]*)"(?=@)/, '$1') : id))
}

/** Step 3: takes dummies out; their children move up, to the root only where it is one child. */
function withoutDummies(roots: readonly ThreadNode[]): ThreadNode[] {
  const order: ThreadNode[] = [...roots]
  for (let at = 0; at < order.length; at++) for (const child of order[at]!.children) order.push(child)
  // Dummies within the tree keep their lists: each is passed once, from the message or root above it.
  for (const node of order) {
    const isKept = node.number !== 0 || node.parent === null
    if (isKept && node.children.some(({ number }) => number === 0)) node.children = messagesBelow(node)
  }
  return roots.flatMap((root) => (root.number === 0 && root.children.length < 2 ? root.children : [root]))
}

/** The messages that are below a node, or below dummies below it, in order. */
function messagesBelow(node: ThreadNode): ThreadNode[] {
  const found: ThreadNode[] = []
  const open = node.children.toReversed()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.number !== 0) found.push(next)
    else for (let at = next.children.length - 1; at >= 0; at--) open.push(next.children[at]!)
  }
  return found
}

/** Step 5: threads with one base subject become one. */
function mergedBySubject(roots: readonly ThreadNode[]): ThreadNode[] {
  const table = new Map<string, ThreadNode>()
  for (const root of roots) {
    const { subject, isReply } = threadSubject(root)
    const known = table.get(subject)
    if (subject === '') continue
    const isBetter = known && known.number !== 0 && (root.number === 0 || (threadSubject(known).isReply && !isReply))
    if (!known || isBetter) table.set(subject, root)
  }
  const merged = new Set(roots)
  for (const root of roots) mergeInto(table, merged, root)
  return [...merged]
}

/** Merges one thread into that of the table; `merged` are the threads that are left. */
function mergeInto(table: Map<string, ThreadNode>, merged: Set<ThreadNode>, root: ThreadNode): void {
  const { subject, isReply } = threadSubject(root)
  const known = subject === '' ? undefined : table.get(subject)
  if (!known || known === root || !merged.has(root)) return
  merged.delete(root)
  if (known.number === 0) {
    // One by one: an argument list of many thousands overflows the stack.
    if (root.number === 0) for (const child of root.children) known.children.push(child)
    else known.children.push(root)
  } else if (isReply && !threadSubject(known).isReply) known.children.push(root)
  else {
    const dummy = newDummy()
    dummy.children.push(known, root)
    merged.delete(known)
    merged.add(dummy)
    table.set(subject, dummy)
  }
}
