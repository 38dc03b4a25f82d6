import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { type Database, openDatabase } from "../../src/deliveries/database.ts";
import { type KnownRepo, Repos } from "../../src/hub/repos.ts";
import { SCHEMA } from "../../src/hub/schema.ts";
import type { RepoRef } from "../../src/protocol/repo.ts";
import { onCleanup } from "../support/cleanup.ts";
import { temporaryFolder } from "../support/deliveries.ts";

const MODEL = { type: "model", name: "me/m" };
const KNOWN: KnownRepo = { id: "1", private: true, head: "a", discussions: 2 };

function openFile(): Database {
  const database = openDatabase(join(temporaryFolder(), "hub.sqlite"));
  database.migrate("hub", SCHEMA);
  onCleanup(() => database.close());
  return database;
}

describe("what is remembered of repos", () => {
  it("is what was told last, in either case of the name", () => {
    const database = openFile();
    const repos = new Repos(database);
    const publication = repos.begin();
    const unheard = publication.find(MODEL);
    expect(unheard).toEqual({ id: unheard.id, private: false, head: null, discussions: 0 });
    publication.keep(MODEL, KNOWN);
    expect(publication.find({ type: "model", name: "Me/M" })).toEqual(KNOWN);
    expect(publication.find({ type: "dataset", name: "me/m" }).id).not.toBe(KNOWN.id);
    database.transaction(() => publication.save())();
    expect(repos.begin().find(MODEL)).toEqual(KNOWN);
    expect(new Repos(database).begin().find(MODEL)).toEqual(KNOWN);
  });

  it("is written once a publication, however often it is told of", () => {
    const database = openFile();
    const { total } = database.prepare("SELECT total_changes() AS total").get<{ total: number }>() ?? { total: 0 };
    const publication = new Repos(database).begin();
    for (const head of ["a", "b", "c"]) publication.keep(MODEL, { ...KNOWN, head });
    publication.save();
    const after = database.prepare("SELECT total_changes() AS total").get<{ total: number }>();
    expect(after).toEqual({ total: total + 1 });
  });

  // Publications one after the other, several in a transaction; any of them, or the whole transaction, is taken back.
  it("is what the file says, whatever is taken back", () => {
    const refs: RepoRef[] = ["a", "b", "B", "c"].map((name) => ({ type: "model", name: `me/${name}` }));
    const known = fc.record({
      id: fc.constantFrom("1", "2"),
      private: fc.boolean(),
      // Long ones push others out of the memory.
      head: fc.constantFrom(null, "a", "b", "c", "d".repeat(400_000)),
      discussions: fc.nat(3),
    });
    const fails = fc.constantFrom(false, false, true);
    const change = fc.tuple(fc.constantFrom(...refs), fc.option(known, { freq: 2 }));
    const publication = fc.record({ changes: fc.array(change, { maxLength: 4 }), fails });
    const transaction = fc.record({ publications: fc.array(publication, { maxLength: 3 }), fails });
    const database = openFile();
    const empty = database.prepare("DELETE FROM hub_repos");

    fc.assert(
      fc.property(fc.array(transaction, { maxLength: 8, size: "max" }), (transactions) => {
        empty.run();
        const repos = new Repos(database);
        const expectInStep = () => {
          const [held, inFile] = [repos.begin(), new Repos(database).begin()];
          for (const ref of refs) expect(held.find(ref)).toEqual(inFile.find(ref));
        };
        for (const { publications, fails } of transactions) {
          const afterCommit: (() => void)[] = [];
          const committed = takenBack(fails, database.transaction, () => {
            for (const { changes, fails } of publications) {
              const follows: (() => void)[] = [];
              const done = takenBack(fails, database.savepoint, () => {
                const publication = repos.begin();
                for (const [ref, told] of changes) {
                  publication.find(ref);
                  if (told) publication.keep(ref, told);
                  else publication.forget(ref);
                  if (told) expect(publication.find(ref)).toEqual(told);
                }
                follows.push(publication.save());
              });
              if (done) afterCommit.push(...follows);
              expectInStep();
            }
          });
          if (committed) for (const follow of afterCommit) follow();
          expectInStep();
        }
      }),
    );
  });
});

/** Does the work within `part`, and takes it back when it is to fail. */
function takenBack(fails: boolean, part: <T>(work: () => T) => T, work: () => void): boolean {
  try {
    part(() => {
      work();
      if (fails) throw new TakenBack();
    });
    return true;
  } catch (error) {
    if (error instanceof TakenBack) return false;
    throw error;
  }
}

class TakenBack extends Error {}
