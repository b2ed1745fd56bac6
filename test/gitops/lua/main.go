// Command lua runs a health check of Argo CD, the file that is its argument, for each
// object of a JSON list on its input, and prints the results as a JSON list. As in
// Argo CD, scripts have the libraries package, base and table only. It is a module of
// its own, so that nothing of it is in the controller's.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	lua "github.com/yuin/gopher-lua"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(file string) error {
	script, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var objects []map[string]any
	if err := json.NewDecoder(os.Stdin).Decode(&objects); err != nil {
		return err
	}
	var out []map[string]string
	for _, o := range objects {
		health, err := check(string(script), o)
		if err != nil {
			return err
		}
		out = append(out, health)
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// check returns the health of an object.
func check(script string, object map[string]any) (map[string]string, error) {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for name, open := range map[string]lua.LGFunction{lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := l.CallByParam(lua.P{Fn: l.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return nil, err
		}
	}
	l.SetGlobal("obj", luaValue(l, object))
	if err := l.DoString(script); err != nil {
		return nil, err
	}
	result, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		return nil, fmt.Errorf("the script returns %s, not a table", l.Get(-1).Type())
	}
	out := map[string]string{}
	result.ForEach(func(key, value lua.LValue) { out[key.String()] = value.String() })
	return out, nil
}

// luaValue returns the Lua value of a JSON value.
func luaValue(l *lua.LState, of any) lua.LValue {
	switch of := of.(type) {
	case map[string]any:
		out := l.NewTable()
		for key, value := range of {
			out.RawSetString(key, luaValue(l, value))
		}
		return out
	case []any:
		out := l.NewTable()
		for _, value := range of {
			out.Append(luaValue(l, value))
		}
		return out
	case string:
		return lua.LString(of)
	case float64:
		return lua.LNumber(of)
	case bool:
		return lua.LBool(of)
	}
	return lua.LNil
}
