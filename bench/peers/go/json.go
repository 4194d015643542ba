package main

import (
	"encoding/json"
	"fmt"
)

// Documents of a thousand records, as in bench/programs/json_parse.dry and json_write.dry, by encoding/json.

const (
	jsonItems = 1000
	jsonTimes = 200
)

type jsonItem struct {
	ID    int64    `json:"id"`
	Name  string   `json:"name"`
	Price float64  `json:"price"`
	Sold  bool     `json:"sold"`
	Tags  []string `json:"tags"`
}

func theJSONItems() []jsonItem {
	items := make([]jsonItem, jsonItems)
	for k := range items {
		i := int64(k + 1)
		items[k] = jsonItem{i, fmt.Sprintf("bolt, %d mm", i), float64(i) + 0.25, i%2 == 0,
			[]string{"steel", fmt.Sprintf("M%d", i%20)}}
	}
	return items
}

func jsonParse() program {
	return program{flags: noFlags, run: func() (outcome, error) {
		text, err := json.Marshal(theJSONItems())
		if err != nil {
			return outcome{}, err
		}
		ids, bytes, sold, tags, price := int64(0), 0, 0, 0, 0.0
		for range jsonTimes {
			var items []jsonItem
			if err := json.Unmarshal(text, &items); err != nil {
				return outcome{}, err
			}
			for k := range items {
				item := &items[k]
				ids += item.ID
				bytes += len(item.Name)
				tags += len(item.Tags)
				price += item.Price
				if item.Sold {
					sold++
				}
			}
		}
		return outcome{result: map[string]any{
			"length": len(text), "ids": ids, "bytes": bytes, "sold": sold, "tags": tags, "price": int64(price),
		}}, nil
	}}
}

func jsonWrite() program {
	return program{flags: noFlags, run: func() (outcome, error) {
		items, bytes := theJSONItems(), 0
		for i := range jsonTimes {
			items[0].ID = int64(i + 1)
			text, err := json.Marshal(items)
			if err != nil {
				return outcome{}, err
			}
			bytes += len(text)
		}
		return outcome{result: map[string]any{"bytes": bytes}}, nil
	}}
}
