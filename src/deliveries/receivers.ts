import type { Database } from "./database.ts";

/** Receivers are numbers in the file: rows and indexes stay small however long the names are. */
export class Receivers {
  readonly #find;
  readonly #name;
  readonly #add;
  readonly #numbers = new Map<string, number>();
  readonly #names = new Map<number, string>();
  #added: string[] = [];

  constructor(database: Database) {
    this.#find = database.prepare("SELECT number FROM deliveries_receivers WHERE name = ?");
    this.#name = database.prepare("SELECT name FROM deliveries_receivers WHERE number = ?");
    this.#add = database.prepare("INSERT INTO deliveries_receivers (name) VALUES (?) RETURNING number");
  }

  /** The number of a receiver, given now if it is new: only inside a transaction. */
  numberOf(name: string): number {
    const known = this.find(name);
    if (known !== undefined) return known;
    const number = this.#add.get<{ number: number }>(name)?.number ?? 0;
    this.#remember(name, number);
    this.#added.push(name);
    return number;
  }

  /** undefined where nothing was ever accepted for it. */
  find(name: string): number | undefined {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.#find.get<{ number: number }>(name)?.number;
    if (number !== undefined) this.#remember(name, number);
    return number;
  }

  nameOf(number: number): string {
    const known = this.#names.get(number);
    if (known !== undefined) return known;
    const name = this.#name.get<{ name: string }>(number)?.name;
    if (name === undefined) throw new Error(`there is no receiver ${number}`);
    this.#remember(name, number);
    return name;
  }

  /** Not any more, where it was given in a transaction that was rolled back. */
  has(number: number): boolean {
    return this.#names.has(number) || this.#name.get(number) !== undefined;
  }

  mark(): () => void {
    const before = this.#added.length;
    return () => {
      for (const name of this.#added.splice(before)) {
        this.#names.delete(this.#numbers.get(name) ?? 0);
        this.#numbers.delete(name);
      }
    };
  }

  committed(): void {
    this.#added = [];
  }

  #remember(name: string, number: number): void {
    this.#numbers.set(name, number);
    this.#names.set(number, name);
  }
}
