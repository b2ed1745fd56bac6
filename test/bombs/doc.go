// Package bombs holds texts that ask for more than there is: each would take
// gigabytes or hours if it were simply done. Its tests run them, in this process
// and in others with little memory.
package bombs
