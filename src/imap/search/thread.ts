// Threads messages as RFC 5256 §4 says: ORDEREDSUBJECT and REFERENCES, in bounded time for any References.

import { ID_DIGEST_LENGTH, NO_ID } from '../../mime/header-keys.ts'
import {
  addChild,
  formatThreads,
  newDummy,
  newNode,
  parentsFrom,
  sortForest,
  sortSiblings,
  type ThreadNode,
  threadSubject,
} from './thread-tree.ts'

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
  /** See `HeaderKeys`. */
  subject: string
  isReply: boolean
  threadIds: string
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
    for (const other of others) addChild(first!, other)
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
  for (const message of messages) yield newNode(message, order++)
}

/** Step 1: links messages by their ids. */
class ReferenceLinker {
  readonly #byId = new Map<string, ThreadNode>()
  readonly #all: ThreadNode[] = []
  /** Nodes that have been linked to as a parent. */
  readonly #parents = new Set<ThreadNode>()
  #order = 0
  #idsLeft = THREAD_IDS_MAX
  #stepsLeft = LOOP_STEPS_MAX

  add(message: ThreadMessage): void {
    const { threadIds } = message
    const node = this.#nodeFor(message, idAt(threadIds, 0))
    const above = threadIds.length / ID_DIGEST_LENGTH - 1
    this.#idsLeft -= above
    let last: ThreadNode | null = null
    for (let at = this.#idsLeft < 0 ? above : 1; at >= 1 && at <= above; at++) {
      const next = this.#nodeOfId(idAt(threadIds, at))
      // Step 1 (A): an existing link is not changed, and no link makes a loop.
      if (last !== null && next.parent === null && !this.#makesLoop(last, next)) this.#link(last, next)
      last = next
    }
    // Step 1 (B): the message belongs below its last reference, whatever others said of it.
    if (node.parent !== null) node.parent = null
    if (last !== null && !this.#makesLoop(last, node)) this.#link(last, node)
  }

  /** Step 2: the nodes without a parent, with their children. */
  roots(): ThreadNode[] {
    // Children are collected at the end: taking one out of a list at each new link would be quadratic.
    for (const node of this.#all) if (node.parent !== null) addChild(node.parent, node)
    return this.#all.filter(({ parent }) => parent === null)
  }

  /** The node of the message's own id; of several messages with one id the first has it. */
  #nodeFor(message: ThreadMessage, id: string): ThreadNode {
    const known = id === NO_ID ? undefined : this.#byId.get(id)
    const order = this.#order++
    if (known && known.number === 0) {
      const { number, date, subject, isReply } = message
      return Object.assign(known, { number, order, date, subject, isReply })
    }
    const node = newNode(message, order)
    if (known === undefined && id !== NO_ID) this.#byId.set(id, node)
    this.#all.push(node)
    return node
  }

  #nodeOfId(id: string): ThreadNode {
    const known = this.#byId.get(id)
    if (known !== undefined) return known
    const dummy = newDummy()
    this.#byId.set(id, dummy)
    this.#all.push(dummy)
    return dummy
  }

  #link(parent: ThreadNode, child: ThreadNode): void {
    child.parent = parent
    this.#parents.add(parent)
  }

  /** True when the child is the parent or above it. */
  #makesLoop(parent: ThreadNode, child: ThreadNode): boolean {
    if (parent === child) return true
    // What has no children is above nothing.
    if (!this.#parents.has(child)) return false
    for (let node = parent.parent; node !== null; node = node.parent) {
      if (node === child || --this.#stepsLeft < 0) return true
    }
    return false
  }
}

function idAt(threadIds: string, at: number): string {
  return threadIds.slice(at * ID_DIGEST_LENGTH, (at + 1) * ID_DIGEST_LENGTH)
}

/** Step 3: takes dummies out; their children move up, to the root only where it is one child. */
function withoutDummies(roots: readonly ThreadNode[]): ThreadNode[] {
  // Dummies within the tree keep their lists: each is passed once, from the message or root above it.
  for (const node of parentsFrom(roots)) {
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
function mergedBySubject(roots: readonly ThreadNode[]): readonly ThreadNode[] {
  const table = new Map<string, ThreadNode>()
  let hasCommon = false
  for (const root of roots) {
    const { subject, isReply } = threadSubject(root)
    if (subject === '') continue
    const known = table.get(subject)
    hasCommon ||= known !== undefined
    const isBetter = known && known.number !== 0 && (root.number === 0 || (threadSubject(known).isReply && !isReply))
    if (!known || isBetter) table.set(subject, root)
  }
  if (!hasCommon) return roots
  const merged: MergedThreads = { table, gone: new Set(), dummies: [] }
  for (const root of roots) mergeInto(merged, root)
  return [...roots.filter((root) => !merged.gone.has(root)), ...merged.dummies]
}

interface MergedThreads {
  /** The thread of each subject. */
  table: Map<string, ThreadNode>
  /** Threads that are below others now. */
  gone: Set<ThreadNode>
  /** New threads: each has two that are equals. */
  dummies: ThreadNode[]
}

/** Merges one thread into that of the table. */
function mergeInto({ table, gone, dummies }: MergedThreads, root: ThreadNode): void {
  const { subject, isReply } = threadSubject(root)
  const known = subject === '' ? undefined : table.get(subject)
  if (!known || known === root || gone.has(root)) return
  gone.add(root)
  if (known.number === 0) for (const child of root.number === 0 ? root.children : [root]) addChild(known, child)
  else if (isReply && !threadSubject(known).isReply) addChild(known, root)
  else {
    const dummy = newDummy()
    addChild(dummy, known)
    addChild(dummy, root)
    gone.add(known)
    dummies.push(dummy)
    table.set(subject, dummy)
  }
}
