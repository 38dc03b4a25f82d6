/** A process that adds resources to a catalog file, again and again where others were quicker. */
import { EditRefused, openForEdit } from "../../src/catalog/edit.ts";
import { newResource } from "./catalog-file.ts";

const [, , file = "", name = "", count = "1"] = process.argv;

for (let number = 0; number < Number(count); )
  try {
    await openForEdit(file)
      .plan({ add: newResource(`${name}-${number}`) })
      .write();
    process.stdout.write(`${name}-${number}\n`);
    number++;
  } catch (error) {
    if (!(error instanceof EditRefused)) throw error;
    // Others have the processor, so that they come to an end.
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
  }
