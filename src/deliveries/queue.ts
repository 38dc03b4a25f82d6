/** First in, first out, at the same cost however long it is: an array's `shift` moves all the others. */
export class Queue<T extends object> {
  #items: (T | undefined)[] = [];
  #gone = 0;

  get first(): T | undefined {
    return this.#items[this.#gone];
  }

  get empty(): boolean {
    return this.#gone === this.#items.length;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.#items[this.#gone];
    if (item === undefined) return undefined;
    this.#items[this.#gone++] = undefined;
    // Each move is paid for by as many shifts before it.
    if (this.#gone > 32 && this.#gone * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#gone);
      this.#gone = 0;
    }
    return item;
  }
}
