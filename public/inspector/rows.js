/** The deliveries that the list knows of: the newest first, a beginning of all that match. Ids sort by arrival. Pure. */

/** Sorts behind every id. */
const END = "~";

export class Rows {
  /** The newest first. */
  all = [];
  #byId = new Map();
  /** All that match are known from this id on: `END` for none yet, "" for all. */
  #from = END;
  #fits;

  /** @param {(delivery: object) => boolean} fits does it match what is asked for? */
  constructor(fits) {
    this.#fits = fits;
  }

  get complete() {
    return this.#from === "";
  }

  /** The cursor of the page that comes next; undefined for the first. */
  get cursor() {
    return this.#from === END ? undefined : this.#from;
  }

  get(id) {
    return this.#byId.get(id);
  }

  /** Where it stands, or where it would. */
  indexOf(id) {
    let low = 0;
    let high = this.all.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.all[middle].id > id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Takes in what has changed. Returns those that are new here. */
  update(changed) {
    const gone = changed.filter((delivery) => this.#byId.has(delivery.id) && !this.#fits(delivery));
    this.#drop(new Set(gone.map(({ id }) => id)));
    return this.#take(changed.filter((delivery) => delivery.id >= this.#from && this.#fits(delivery)));
  }

  /**
   * Takes in a page of the list as the truth about its stretch: what is not on it is gone. Returns those that are new
   * here. A first page that does not reach down to what is known takes its place.
   * @param {string} [after] the cursor with which the page was asked for
   */
  reconcile({ deliveries, next: to = "" }, after = END) {
    if (after === END && (this.all.length === 0 || to > this.all[0].id)) {
      this.all = [];
      this.#byId.clear();
      this.#from = END;
    }
    const named = new Set(deliveries.map(({ id }) => id));
    this.#drop(new Set(this.all.map(({ id }) => id).filter((id) => id < after && id >= to && !named.has(id))));
    if (to < this.#from) this.#from = to;
    return this.#take(deliveries);
  }

  #drop(ids) {
    if (ids.size === 0) return;
    for (const id of ids) this.#byId.delete(id);
    this.all = this.all.filter(({ id }) => !ids.has(id));
  }

  #take(deliveries) {
    const added = [];
    for (const delivery of deliveries) {
      if (this.#byId.has(delivery.id)) this.all[this.indexOf(delivery.id)] = delivery;
      else added.push(delivery);
      this.#byId.set(delivery.id, delivery);
    }
    if (added.length > 0) this.all = [...this.all, ...added].sort((a, b) => (a.id < b.id ? 1 : -1));
    return added;
  }
}
