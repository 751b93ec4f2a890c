// Cascade layers (CSS Cascade 5, 6.4): rules of a later layer win over those of an earlier one, and unlayered rules over both.

/** Layers of a message; further ones count as the last. */
export const LAYERS_MAX = 200

export class Layer {
  readonly #children = new Map<string, Layer>()
  readonly #all: Layer[]
  /** Rank among all layers; set by `ranked`. */
  rank = 0

  constructor(all: Layer[] = []) {
    this.#all = all
    all.push(this)
  }

  /** The layer with a dotted name inside this one; created if needed, "" for an anonymous one. */
  named(name: string): Layer {
    let layer: Layer = this
    for (const part of name.split('.')) layer = layer.#child(part)
    return layer
  }

  /** Ranks this layer and all inside it, the weakest first. */
  ranked(from = 0): number {
    let next = from
    for (const child of this.#children.values()) next = child.ranked(next)
    this.rank = next
    return next + 1
  }

  #child(name: string): Layer {
    const known = this.#children.get(name)
    if (known !== undefined) return known
    if (this.#all.length > LAYERS_MAX) return this.#all.at(-1)!
    const layer = new Layer(this.#all)
    this.#children.set(name === '' ? `anonymous ${this.#all.length}` : name, layer)
    return layer
  }
}
