export { Proving as default } from "./Proof";
